import d, { x as y, default as z } from 'm'; import * as n from "n"; import 'side'
export const one = d.tool('one', { a: { b: { c: [1, [2, { d: 'e' }]] } } }), two = 2
export function* f(a, b = d.tool("default param"), ...c) { yield d.tool("yielded", ...c, { ...a, ...b }) }
export default class extends d.Base { static { d.tool("static block") } #p = d.tool("field"); static async *[Symbol.iterator]() {} }
export { y as default2 }; export * from 'o'; export * as q from "p"
d?.tool?.("optional"); d?.["tool"]("index"); (d).tool("paren"); (0, d.tool)("comma"); d.tool`tagged`; d.tool.tool("twice").tool('thrice')
const o = { tool(a) { return this.tool("method") }, ['x']: d.tool("value"), a: b => b.tool(1) }
d.tool(a ? b : c, a || "b", a ?? null, a && { b: 1 }, "x" in y, y instanceof d, (1, 2), a = 3, [...y], null, undefined, this, true)
while (/^\[(.+)\]$/.test(d.tool("in a condition"))) d.tool(`${/}/.source}`)
