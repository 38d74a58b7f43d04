//go:build unix

package e2e_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"plimsoll.dev/internal/console/consoletest"
)

var (
	screens = flag.String("screens", "", "folder to leave pictures of every page in")
	format  = flag.String("screens-format", "webp", "webp or png")
)

// exhibit is one picture: a page as somebody sees it.
type exhibit struct{ name, who, path string }

// Every page is shown with what the demo leaves, light, dark and narrow; axe finds
// nothing serious on any of them, and none scrolls sideways. With -screens the
// pictures of docs/screens are made.
func TestEveryPageIsFitToBeSeenWithWhatTheDemoLeaves(t *testing.T) {
	if testing.Short() {
		t.Skip("plays the whole demo")
	}
	url, tokens, paths := demonstrated(t)
	browser := consoletest.Chromium(t, url, tokens)
	tabs := map[string]*consoletest.Tab{"lena": browser.Tab("lena")}
	tabs["lena"].Open("/inbox")
	asked := func(what string) string {
		path := consoletest.Eval[string](tabs["lena"], `(document.querySelector('a[href^="/decisions/`+what+`/"]') || {getAttribute: () => ''}).getAttribute('href')`)
		if path == "" {
			t.Fatalf("no decision on %s waits for Lena:\n%s", what, tabs["lena"].Source())
		}
		return path
	}
	list := []exhibit{
		{"signin", "", "/signin"},
		{"inbox", "lena", "/inbox"},
		{"decision", "lena", asked("gates")},
		{"consent", "lena", asked("consents")},
		{"chains", "lena", "/chains"},
		{"chain", "ana", paths.published},
		{"chain-frozen", "sam", paths.frozen},
		{"diff", "sam", paths.frozen + "/diff"},
		{"requests", "ana", "/requests"},
		{"request", "ana", "/requests/courier-note"},
		{"ask", "ana", "/requests/new"},
		{"circle", "ana", "/requests/circles/shop"},
		{"audit", "rex", "/audit"},
		{"record", "rex", "/audit/20"},
		{"rules", "lena", "/rules"},
		{"rule", "lena", "/rules/SHIP-HOST-BOUNDARY-MCP-SERVER-ADDED"},
		{"actors", "rex", "/actors"},
		{"actor", "rex", "/actors/magpie"},
		{"health", "rex", "/health"},
		{"problem", "lena", "/inbox/nothing"},
	}
	for _, e := range list {
		t.Run(e.name, func(t *testing.T) {
			tab := tabs[e.who]
			if tab == nil {
				tab = browser.Tab(e.who)
				tabs[e.who] = tab
			}
			look := func(how string) {
				if *screens != "" {
					tab.Shot(*screens, e.name+"-"+how+"."+*format)
				}
			}
			tab.Wide()
			tab.Light()
			tab.Open(e.path)
			tab.Accessible()
			look("light")
			tab.Dark()
			tab.Accessible()
			look("dark")
			tab.Light()
			tab.Narrow()
			tab.Fits()
			look("narrow")
		})
	}
}

// sights is where the story of the demo has left something to see.
type sights struct{ published, frozen string }

// demonstrated starts the demo and waits for the end of its story.
func demonstrated(t *testing.T) (url string, tokens map[string]string, paths sights) {
	t.Helper()
	cmd := exec.Command(program(t), "demo", "--json", "--pace", "fast", "--listen", "127.0.0.1:0", "--dir", t.TempDir()+"/demo")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the demo ended with %v", err)
		}
	})
	tokens = map[string]string{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var l struct {
			Event, Address, Name string
			People               []struct{ ID, Token string }
			Sights               []struct{ Path, What string }
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		switch l.Event {
		case "serving":
			url = l.Address
			for _, p := range l.People {
				tokens[p.ID] = p.Token
			}
		case "end":
			if len(l.Sights) < 4 {
				t.Fatalf("the demo leaves %s", lines.Text())
			}
			paths.published, paths.frozen = l.Sights[0].Path, l.Sights[1].Path
			go func() { // what follows is read, so that nothing waits
				for lines.Scan() {
				}
			}()
			return url, tokens, paths
		}
	}
	t.Fatal("the demo ended before its story had")
	return "", nil, sights{}
}
