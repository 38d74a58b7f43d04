import { McpServer, type Transport } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Config } from './config';
import z from 'zod'

export abstract class Kit<T extends object = {}> extends Root<T> implements Base<T>, Other {
  static readonly names = ["a", 'b'] as const;
  private server!: McpServer;
  #hidden?: Map<string, Array<() => void>> = new Map<string, Array<() => void>>();
  constructor(@inject() private readonly host: Host<T>, public opts: { a?: number } = { a: 1 }) {
    super();
    this.server = new McpServer({ name: "kit", version: `1.${0}` }, { capabilities: { tools: {} } });
    this.server.registerTool("escape\u00e9 \"q\" \x41 \
joined", { inputSchema: { a: z.string().regex(/["'`{}()\[\]/]+/g).min(-1), b: z.number().max(0x10) } }, async ({ a, b }: Args): Promise<Result> => {
      const half = b / 2 / 1; const less = a < b, more = c > (d); const shift = x >> 2 >= 1 >>> 0;
      return a ? (half) : less as unknown as Result;
    });
  }
  get size(): number { return this.#hidden!.size }
  async *walk<K extends keyof T>(key: K, ...rest: T[K][]): AsyncGenerator<T[K]> { for await (const r of rest) yield r; }
  @logged({ level: "info" })
  protected override run(fn: (x: string) => void | Promise<void>, is?: (y: unknown) => y is string): asserts this is Kit<T> {
    fn("x"), this.host.call<string, Array<number>>("typed", <any>fn, fn!, { ...this.opts, fn, run() { return 1 }, get g() { return 2 }, async *gen() {}, [k + 1]: null, 'quoted-key': true, 12: [1, , 2] });
  }
}
type Fn<A> = A extends (infer U)[] ? (x: U) => void : never;
declare module "x" { export function tool(name: string): void }
function overload(a: string): string;
function overload(a: any): any { return a?.b?.["c"]?.d(`t${a}u${`n${1}`}`)?.e!.f({ a }) }
namespace NS { export const y = server.tool("in namespace", 1e3, .5, 1_000, 10n) }
label: for (let i = 0, n = 3; i < n; i++) { if (i) continue label; else server.tool('loop', i) }
const generic = <T,>(x: T): x is T => x.tool<T>("generic");
const arrow = async (x?: string, { y = 1, ...z }: any = {}) => ({ tool: x.tool("inner", (a) => a, b => b, async function* named() {}) });
switch (x) { case "a": x.tool("case"); default: x.tool(y satisfies string, z as const) }
const re = a / b.tool("divided") / 2, r2 = /[/\]]tool\("no"\)/.test(s.tool("after regex"));
if (x) /re"x/.exec(y.tool("statement regex"));
export default new Kit<{ a: 1 }>(null!, undefined).run(async () => void 0);
export { Kit as default2, type Fn };
enum Color { Red = "r", Green = 1 << 2 }
let v = <const T extends readonly unknown[]>(t: T) => t.tool('const generic');
abstract class Q { abstract m(): void; declare x: string; accessor y = z.tool("accessor") }
