package mcpserver_test

import (
	"slices"
	"strings"
	"testing"
)

const goHead = `package main

import (
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"example.test/far/more"
	"example.test/m/near"
)

func serve(ctx any, url string) {
	server := mcp.NewServer(&mcp.Implementation{Name: "x"}, nil)
	use(server)
`

// goTree is a module with a package near; example.test/far/more is not in it.
func goTree(body string) []string {
	return []string{
		"go.mod", "module example.test/m\n", "main.go", goHead + body,
		"near/near.go", "package near\n\nimport sdk \"github.com/modelcontextprotocol/go-sdk/mcp\"\n\ntype Kit struct{ Server *sdk.Server }\n\nfunc New(s *sdk.Server) *Kit { return &Kit{s} }\n\nfunc Add(s *sdk.Server, n int) {}\n\nfunc (k *Kit) Put(s any) {}\n\nfunc Make() (*sdk.Server, error) { return nil, nil }\n\nvar Shared *sdk.Server\n",
		"more/more.go", "package more\n\nimport _ \"github.com/modelcontextprotocol/go-sdk/mcp\"\n\nfunc Add(s any) {}\n",
		"use.go", "package main\n\nimport \"github.com/modelcontextprotocol/go-sdk/mcp\"\n\nfunc use(s any) {}\n\nvar late *mcp.Server\n",
	}
}

func TestAGoServerThatIsHandedOn(t *testing.T) {
	for body, want := range map[string]string{
		"more.Add(server) }":                                                               "handed_on",
		"go more.Add(1, server) }":                                                         "handed_on",
		"s := server; if ok { defer more.Add((s)) } }":                                     "handed_on",
		"more.Add(&more.Options{Server: server}) }":                                        "handed_on",
		"more.Add([]any{server}) }":                                                        "handed_on",
		"more.Add(any(server)) }":                                                          "handed_on",
		"var x any = server; more.Add(x) }":                                                "handed_on",
		"var x any; x = server; more.Add(x) }":                                             "handed_on",
		"more.Add(x.(*mcp.Server)) }":                                                      "handed_on",
		"more.Add(late) }":                                                                 "handed_on",
		"more.Add(near.Shared) }":                                                          "handed_on",
		"s, err := near.Make(); more.Add(s) }":                                             "handed_on",
		"k := near.New(server); more.Add(k.Server) }":                                      "handed_on",
		"list := []*mcp.Server{}; for _, s := range list { more.Add(s) } }":                "handed_on",
		"f := func(x any) { more.Add(x) }; f(server) }":                                    "handed_on",
		"}; func two(x any) { more.Add(x) }; func three() { two(late) }":                   "handed_on",
		"}; func two(s *mcp.Server) { more.Add(s) }":                                       "handed_on",
		"}; type kit struct{ s *mcp.Server }; func (k *kit) go1() { f(k.s) }":              "handed_on",
		"}; type srv = mcp.Server; func two(s *srv) { more.Add(s) }":                       "handed_on",
		"}; func two(add func(*mcp.Server)) { add(late) }":                                 "handed_on",
		"for _, add := range more.All { add(server) } }":                                   "handed_on",
		"f := use; f = more.Add; f(server) }":                                              "handed_on",
		"kit := more.New(); kit.Put(server) }":                                             "handed_on",
		"(*mcp.Server).AddTool(server, tool, h) }":                                         "handed_on",
		"add := mcp.AddTool[A, B]; add(server, tool, h) }":                                 "handed_on",
		"reflect.ValueOf(server).MethodByName(name).Call(nil) }":                           "handed_on",
		"many(server) }; func many(all ...any) {}":                                         "handed_on",
		"add := server.AddTool; add(tool, h) }":                                            "computed_member",
		"use(server.AddTool) }":                                                            "computed_member",
		"}; type kit struct{ s *mcp.Server }; func (k kit) x() any { return k.s.AddTool }": "computed_member",
	} {
		r := read(t, ".", files(goTree(body)...))
		got := slices.DeleteFunc(dynamics(r), func(d string) bool { return !strings.HasPrefix(d, "binding ") })
		same(t, body, got, []string{"binding " + want + " @main.go:15"})
	}
}

func TestAGoServerThatStaysWhereItIsRead(t *testing.T) {
	for _, body := range []string{
		"if err := server.Run(ctx, &mcp.StdioTransport{}); err != nil { log.Fatal(err) } }",
		"h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil); http.ListenAndServe(url, h) }",
		"fmt.Println(server); log.Printf(\"%v\", server); slices.Sort(more.Names(server.Name)) }",
		"near.Add(server, 1); k := near.New(server); k.Put(server); (&near.Kit{Server: server}).Put(late) }",
		"f := func(s *mcp.Server) {}; f(server); func(s any) {}(server) }",
		"for _, f := range []func(*mcp.Server){one, two} { f(server) } }; func one(s *mcp.Server) {}; func two(s *mcp.Server) {}",
		"all := append(all, server); byName[url] = server; var s adder = adder(server); use(s) }; type adder interface{ Close() }",
		"mcp.AddTool(server, &mcp.Tool{Name: \"t\", InputSchema: map[string]any{}}, h); add := other.AddTool; more.Add(mux, url) }",
		"web := &http.Server{}; more.Add(web) }; type kit struct{ server *http.Server }; func (k *kit) x() { more.Add(k.server) }",
	} {
		r := read(t, ".", files(goTree(body)...))
		same(t, body, dynamics(r), nil)
	}
	community := community + `
func main() {
	server := server.NewMCPServer("x", "1")
	server.AddTool(build(), h)
	if err := serve.ServeStdio(server); err != nil { panic(err) }
	more.Add(server)
}
`
	community = strings.Replace(community, "import (", "import (\n\tserve \"github.com/mark3labs/mcp-go/server\"", 1)
	r := read(t, "s.go", files("s.go", community))
	same(t, "a variable that hides its package", dynamics(r), []string{"tool_list runtime_call @s.go:12", "binding handed_on @s.go:14"})
}

// A package of somebody else is not the folder of the same name.
func TestAGoPackageIsFoundByItsWholePath(t *testing.T) {
	tree := goTree("mcp.AddTool(server, more.Tool, h) }")
	tree[7] += "\nvar Tool = &mcp.Tool{Name: \"t\"}\n"
	r := read(t, ".", files(tree...))
	if got := dynamics(r); !slices.Contains(got, "tool_list imported @main.go:15") {
		t.Error(got)
	}
}

func TestGoServersHandedInCirclesAndCrowds(t *testing.T) {
	circle := official + "func a(x any) { b(x) }\nfunc b(x any) { a(x) }\nvar p = q\nvar q = p\nfunc main() { a(mcp.NewServer(nil, nil)); c(p); y := y; c(y) }\n"
	same(t, "a circle", dynamics(read(t, "s.go", files("s.go", circle))), nil)
	var chain strings.Builder
	chain.WriteString(official)
	for i := range 60 {
		chain.WriteString("func f" + strings.Repeat("x", i) + "(s any) { f" + strings.Repeat("x", max(i-1, 0)) + "(s) }\n")
	}
	chain.WriteString("func main() { f" + strings.Repeat("x", 59) + "(mcp.NewServer(nil, nil)) }\n")
	same(t, "a long way back", dynamics(read(t, "s.go", files("s.go", chain.String()))), []string{"binding too_deep @s.go:1"})
	crowd := official + "func main() {\ns := mcp.NewServer(nil, nil)\n" + strings.Repeat("more(s, s)\n", 20_000) + "}\n"
	if r := read(t, "s.go", files("s.go", crowd)); len(r.Dynamic) != 20_000 {
		t.Errorf("%d dynamic surfaces", len(r.Dynamic))
	}
}
