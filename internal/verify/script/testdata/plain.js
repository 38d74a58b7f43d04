#!/usr/bin/env node
'use strict'
var a = require("a"), b = { get: 1, set: 2, async: 3, static: 4, of: 5, get x() { return 1 }, async y() {}, *z() {}, new: 6, "s p": 7 }
a.b.c('x')("y")["d"]("z").e(-1, +1, !0, ~1, typeof a, void 0, function () { return a.inner({}) }, class { m() { a.inClass(1) } })
for (const [k, v] of Object.entries(b)) { a.each(k, v) }
for (var i in b) a.forIn(i)
do { a.doWhile() } while (a.cond(1))
try { a.tried() } catch { a.caught() } finally { a.last() }
a.tpl(`x${a.nested(`y${b["get"]}`)}z`, `plain`, String.raw`\n${1}`)
const { c = a.dflt("1"), d: { e = a.deep(2) } = {} } = b
x = y ? a.yes("?") : a.no(":"), z ??= a.assign(null)
a.arrow(x => y => x.curried(y), (x, y) => ({ z: x.obj(y) }), async x => { await x.waited(1) }, () => {})
a
  .chain('multi')
  // comment with ( and "
  .line(/* { */ 2)
a.long("a very 'quoted' \"string\" with \t tab and \u{1F6A2}", 'it\'s', "")
new a.B("x").made(new.target, import.meta, import("m"))
a.regex(/a\/b[/"]/gi, 4 / 2 / 1, a++ / 2, b-- / 3)
if (a) {} /block/.test(a.block("x"))
a.escaped("x".replace(/\\/g, "/"), /[\\/]/.test(y), /\//, /[/\]]/g, "\\")
new a.Maker(0).use(1); new a.b.Maker; new (a.pick("class"))(2)
