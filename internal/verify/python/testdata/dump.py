# Prints the tree of Python files as this machine's own parser sees it, in the
# form of dump_test.go. Reads file names, one a line, from the file in argv[1].
# With "digest" as argv[2] it prints one SHA-256 a file instead.
import ast
import hashlib
import json
import struct
import sys
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(20000)

MINOR = sys.version_info[1]
OPS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "MatMult": "@", "BitAnd": "&", "BitOr": "|",
    "BitXor": "^", "LShift": "<<", "RShift": ">>", "Pow": "**", "Not": "not", "USub": "-", "UAdd": "+", "Invert": "~",
    "And": "and", "Or": "or", "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is",
    "IsNot": "is not", "In": "in", "NotIn": "not in",
}


def op(node):
    return OPS[type(node).__name__]


def quoted(text):
    text = "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)
    return json.dumps(text)


def bits(value):
    return struct.pack(">d", value).hex()


class Dump:
    def __init__(self, source):
        self.lines = source.split(b"\n")
        self.out = []
        self.depth = 0
        self.format = 0

    def column(self, line, offset):
        if line > len(self.lines):
            return offset + 1
        head = self.lines[line - 1][:offset]
        return (offset if head.isascii() else len(head.decode("utf-8", "replace"))) + 1

    def at(self, n):
        if self.format and MINOR < 12 or getattr(n, "lineno", None) is None:
            return "-"
        return "%d:%d-%d:%d" % (
            n.lineno, self.column(n.lineno, n.col_offset), n.end_lineno, self.column(n.end_lineno, n.end_col_offset))

    def line(self, label, n=None):
        place = self.at(n) if n is not None else "-"
        self.out.append("%s%s %s" % (" " * self.depth, label, place))

    def below(self, *groups):
        self.depth += 1
        for group in groups:
            if group is None:
                continue
            if callable(group):
                group()
            elif isinstance(group, list):
                for item in group:
                    self.node(item)
            else:
                self.node(group)
        self.depth -= 1

    def block(self, label, body):
        if body:
            self.line(label)
            self.below(body)

    def named(self, label, node):
        if node is not None:
            self.line(label)
            self.below(node)

    def node(self, n):
        getattr(self, "do_" + type(n).__name__)(n)

    def do_Name(self, n):
        self.line("name " + n.id, n)

    def do_Constant(self, n):
        v = n.value
        if v is None or v is True or v is False:
            self.line("constant %r" % (v,), n)
        elif v is ...:
            self.line("constant ...", n)
        elif isinstance(v, str):
            self.line("str " + quoted(v), n)
        elif isinstance(v, bytes):
            self.line("bytes " + quoted(v.decode("latin-1")), n)
        elif isinstance(v, int):
            self.line("int %x" % v, n)
        elif isinstance(v, float):
            self.line("float " + bits(v), n)
        else:
            self.line("imaginary " + bits(v.imag), n)

    def do_JoinedStr(self, n):
        self.line("format", n)
        self.parts(n)

    def parts(self, n):
        self.depth += 1
        self.format += 1
        merged = []
        for part in n.values:
            if isinstance(part, ast.Constant):
                if merged and isinstance(merged[-1], str):
                    merged[-1] += part.value
                else:
                    merged.append(part.value)
            else:
                merged.append(part)
        for part in merged:
            if isinstance(part, str):
                if part:
                    self.line("str " + quoted(part))
            else:
                self.line("field %s" % (chr(part.conversion) if part.conversion > 0 else "-"), part)
                self.below(part.value)
                if part.format_spec is not None:
                    self.depth += 1
                    self.line("spec")
                    self.parts(part.format_spec)
                    self.depth -= 1
        self.format -= 1
        self.depth -= 1

    def do_Attribute(self, n):
        self.line("attribute " + n.attr, n)
        self.below(n.value)

    def do_Subscript(self, n):
        self.line("subscript", n)
        self.below(n.value, n.slice)

    def args(self, values, keywords):
        everything = [(v.lineno, v.col_offset, v) for v in values]
        everything += [(k.lineno, k.col_offset, k) for k in keywords]
        everything.sort(key=lambda a: a[:2])
        return [a[2] for a in everything]

    def do_keyword(self, n):
        self.line("keyword " + (n.arg or "**"), n)
        self.below(n.value)

    def do_Call(self, n):
        self.line("call", n)
        self.below(n.func, self.args(n.args, n.keywords))

    def do_Starred(self, n):
        self.line("starred", n)
        self.below(n.value)

    def do_UnaryOp(self, n):
        self.line("unary " + op(n.op), n)
        self.below(n.operand)

    def do_BinOp(self, n):
        self.line("binary " + op(n.op), n)
        self.below(n.left, n.right)

    def do_BoolOp(self, n):
        self.line("logical " + op(n.op), n)
        self.below(n.values)

    def do_Compare(self, n):
        self.line("compare " + ",".join(op(o) for o in n.ops), n)
        self.below(n.left, n.comparators)

    def do_Lambda(self, n):
        self.line("lambda", n)
        self.below(lambda: self.params(n.args), n.body)

    def do_IfExp(self, n):
        self.line("conditional", n)
        self.below(n.test, n.body, n.orelse)

    def sequence(self, n):
        self.line(type(n).__name__.lower(), n)
        self.below(n.elts)

    do_List = do_Tuple = do_Set = sequence

    def do_Dict(self, n):
        self.line("dictionary", n)
        self.depth += 1
        for k, v in zip(n.keys, n.values):
            self.line("item" if k is not None else "item **")
            self.below(k, v)
        self.depth -= 1

    def comprehension(self, n, kind, *items):
        self.line("comprehension " + kind, n)
        self.below(*items)
        self.depth += 1
        for c in n.generators:
            self.line("clause async" if c.is_async else "clause")
            self.below(c.target, c.iter, c.ifs)
        self.depth -= 1

    def do_ListComp(self, n):
        self.comprehension(n, "list", n.elt)

    def do_SetComp(self, n):
        self.comprehension(n, "set", n.elt)

    def do_GeneratorExp(self, n):
        self.comprehension(n, "generator", n.elt)

    def do_DictComp(self, n):
        self.comprehension(n, "dict", n.key, n.value)

    def do_Await(self, n):
        self.line("await", n)
        self.below(n.value)

    def do_Yield(self, n):
        self.line("yield", n)
        self.below(n.value)

    def do_YieldFrom(self, n):
        self.line("yield from", n)
        self.below(n.value)

    def do_NamedExpr(self, n):
        self.line("walrus", n)
        self.below(n.target, n.value)

    def do_Slice(self, n):
        self.line("slice", n)
        self.depth += 1
        self.named("lower", n.lower)
        self.named("upper", n.upper)
        self.named("step", n.step)
        self.depth -= 1

    def params(self, a):
        rows = [("positional_only", p) for p in a.posonlyargs] + [("regular", p) for p in a.args]
        defaults = [None] * (len(rows) - len(a.defaults)) + a.defaults
        rows = [(k, p, d) for (k, p), d in zip(rows, defaults)]
        if a.vararg:
            rows.append(("*", a.vararg, None))
        rows += [("keyword_only", p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
        if a.kwarg:
            rows.append(("**", a.kwarg, None))
        for kind, p, d in rows:
            self.line("param %s %s" % (kind, p.arg), p)
            self.depth += 1
            self.named("annotation", p.annotation)
            self.named("default", d)
            self.depth -= 1

    def type_params(self, n):
        for p in getattr(n, "type_params", []):
            stars = {"TypeVar": 0, "TypeVarTuple": 1, "ParamSpec": 2}[type(p).__name__]
            self.line("type param %d %s" % (stars, p.name), p)
            self.depth += 1
            self.named("bound", getattr(p, "bound", None))
            self.named("default", getattr(p, "default_value", None))
            self.depth -= 1

    def function(self, n):
        kind = "async function" if isinstance(n, ast.AsyncFunctionDef) else "function"
        self.line("%s %s" % (kind, n.name), n)
        self.depth += 1
        self.block("decorators", n.decorator_list)
        self.type_params(n)
        self.params(n.args)
        self.named("returns", n.returns)
        self.block("body", n.body)
        self.depth -= 1

    do_FunctionDef = do_AsyncFunctionDef = function

    def do_ClassDef(self, n):
        self.line("class " + n.name, n)
        self.depth += 1
        self.block("decorators", n.decorator_list)
        self.type_params(n)
        self.block("args", self.args(n.bases, n.keywords))
        self.block("body", n.body)
        self.depth -= 1

    def do_Return(self, n):
        self.line("return", n)
        self.below(n.value)

    def do_Delete(self, n):
        self.line("delete", n)
        self.below(n.targets)

    def do_Assign(self, n):
        self.line("assign", n)
        self.below(n.targets, n.value)

    def do_AugAssign(self, n):
        self.line("augmented " + op(n.op), n)
        self.below(n.target, n.value)

    def do_AnnAssign(self, n):
        self.line("annotated", n)
        self.below(n.target, n.annotation, n.value)

    def do_TypeAlias(self, n):
        self.line("type alias", n)
        self.below(n.name, lambda: self.type_params(n), n.value)

    def loop(self, n):
        self.line("async for" if isinstance(n, ast.AsyncFor) else "for", n)
        self.below(n.target, n.iter, lambda: self.block("body", n.body), lambda: self.block("else", n.orelse))

    do_For = do_AsyncFor = loop

    def do_While(self, n):
        self.line("while", n)
        self.below(n.test, lambda: self.block("body", n.body), lambda: self.block("else", n.orelse))

    def do_If(self, n):
        self.line("if", n)
        self.depth += 1
        at = n
        while True:
            self.line("branch")
            self.below(at.test, at.body)
            rest = at.orelse
            if len(rest) == 1 and isinstance(rest[0], ast.If) and rest[0].col_offset == n.col_offset:
                at = rest[0]
                continue
            self.block("else", rest)
            break
        self.depth -= 1

    def do_with(self, n):
        self.line("async with" if isinstance(n, ast.AsyncWith) else "with", n)
        self.depth += 1
        for item in n.items:
            self.line("item")
            self.below(item.context_expr, item.optional_vars)
        self.block("body", n.body)
        self.depth -= 1

    do_With = do_AsyncWith = do_with

    def do_Raise(self, n):
        self.line("raise", n)
        self.below(n.exc, n.cause)

    def do_try(self, n):
        self.line("try" if isinstance(n, ast.Try) else "try *", n)
        self.depth += 1
        self.block("body", n.body)
        for h in n.handlers:
            self.line("except " + (h.name or "-"), h)
            self.below(h.type, lambda: self.block("body", h.body))
        self.block("else", n.orelse)
        self.block("finally", n.finalbody)
        self.depth -= 1

    do_Try = do_TryStar = do_try

    def do_Assert(self, n):
        self.line("assert", n)
        self.below(n.test, n.msg)

    def alias(self, names):
        for a in names:
            self.line("alias %s %s" % (a.name, a.asname or "-"), a if MINOR >= 10 else None)

    def do_Import(self, n):
        self.line("import", n)
        self.below(lambda: self.alias(n.names))

    def do_ImportFrom(self, n):
        self.line("from %s%s" % ("." * n.level, n.module or ""), n)
        self.below(lambda: self.alias(n.names))

    def do_Global(self, n):
        self.line("global " + ",".join(n.names), n)

    def do_Nonlocal(self, n):
        self.line("nonlocal " + ",".join(n.names), n)

    def do_Expr(self, n):
        self.line("evaluate", n)
        self.below(n.value)

    def do_Pass(self, n):
        self.line("pass", n)

    def do_Break(self, n):
        self.line("break", n)

    def do_Continue(self, n):
        self.line("continue", n)

    def do_Match(self, n):
        self.line("match", n)
        self.depth += 1
        self.node(n.subject)
        for c in n.cases:
            self.line("case")
            self.below(c.pattern)
            self.depth += 1
            self.named("guard", c.guard)
            self.block("body", c.body)
            self.depth -= 1
        self.depth -= 1

    def pattern(self, n, kind, name, value=None, keys=(), keywords=(), items=()):
        self.line("pattern %s %s %s" % (kind, name or "-", ",".join(keywords) or "-"), n)
        self.below(value, list(keys), list(items))

    def do_MatchValue(self, n):
        self.pattern(n, "value", None, n.value)

    def do_MatchSingleton(self, n):
        self.line("pattern singleton - -", n)
        self.depth += 1
        self.line("constant %r" % (n.value,))
        self.depth -= 1

    def do_MatchSequence(self, n):
        self.pattern(n, "sequence", None, items=n.patterns)

    def do_MatchMapping(self, n):
        self.pattern(n, "mapping", n.rest, keys=n.keys, items=n.patterns)

    def do_MatchClass(self, n):
        self.pattern(n, "class", None, n.cls, (), n.kwd_attrs, n.patterns + n.kwd_patterns)

    def do_MatchStar(self, n):
        self.pattern(n, "star", n.name)

    def do_MatchAs(self, n):
        self.pattern(n, "as", n.name, items=[n.pattern] if n.pattern else [])

    def do_MatchOr(self, n):
        self.pattern(n, "or", None, items=n.patterns)


def dump(path):
    with open(path, "rb") as f:
        data = f.read()
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as e:
        return "refused\n" if not isinstance(e, (MemoryError, RecursionError)) else "beyond\n"
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    d = Dump(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    for statement in tree.body:
        d.node(statement)
    return "".join(line + "\n" for line in d.out)


with open(sys.argv[1], encoding="utf-8") as f:
    names = f.read().splitlines()
for name in names:
    text = dump(name)
    if len(sys.argv) > 2:
        print(hashlib.sha256(text.encode()).hexdigest(), flush=True)
    else:
        sys.stdout.write(text)
