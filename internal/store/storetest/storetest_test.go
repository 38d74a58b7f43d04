package storetest_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/request"
)

// A method no test calls could do anything on the second database.
func TestEveryMethodOfThePortIsTested(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var suite strings.Builder
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			text, err := os.ReadFile(e.Name())
			if err != nil {
				t.Fatal(err)
			}
			suite.Write(text)
		}
	}
	for port, receiver := range map[reflect.Type]string{
		reflect.TypeFor[pipeline.Store]():  `store`,
		reflect.TypeFor[pipeline.Reader](): `(r|tx)`,
		reflect.TypeFor[pipeline.Tx]():     `(r|tx|leaked)`,
		reflect.TypeFor[request.Store]():   `store\.Circles\(\)`,
		reflect.TypeFor[request.Reader]():  `(cr|ct)`,
		reflect.TypeFor[request.Tx]():      `(cr|ct)`,
	} {
		for i := range port.NumMethod() {
			name := port.Method(i).Name
			if !regexp.MustCompile(`\b` + receiver + `\.` + name + `\(`).MatchString(suite.String()) {
				t.Errorf("no test of the suite calls %s.%s", port.Name(), name)
			}
		}
	}
}

// fullText is the one migration that each database has in words of its own.
const fullText = "0005_circle_search.sql"

// Both databases have the same tables, columns and constraints; only the words
// for them differ.
func TestBothSchemasAreTheSame(t *testing.T) {
	files, err := os.ReadDir("../sqlite/migration")
	if err != nil {
		t.Fatal(err)
	}
	others, err := os.ReadDir("../postgres/migration")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(others) {
		t.Fatalf("%d migrations here and %d there", len(files), len(others))
	}
	toSQLite := strings.NewReplacer(
		` COLLATE "C"`, "", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "INTEGER PRIMARY KEY AUTOINCREMENT",
		"BIGINT", "INTEGER", "BOOLEAN", "INTEGER", "BYTEA", "BLOB", " STRICT, WITHOUT ROWID", "", " STRICT", "",
		`substring(convert_from(line, 'UTF8') from '"correlationId":"([A-Za-z0-9._:-]+)"')`, `json_extract(CAST(line AS TEXT), '$.correlationId')`,
	)
	// SQLite counts in a table.
	sequence := regexp.MustCompile(`CREATE SEQUENCE [^;]*;|SELECT setval[^;]*;`)
	comment, space := regexp.MustCompile(`(?m)--.*$`), regexp.MustCompile(`\s+`)
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		plain := space.ReplaceAllString(toSQLite.Replace(sequence.ReplaceAllString(comment.ReplaceAllString(string(text), ""), "")), " ")
		return strings.ReplaceAll(plain, ") ;", ");")
	}
	for _, f := range files {
		if f.Name() == fullText { // where the two have nothing in common
			continue
		}
		if a, b := read("../sqlite/migration/"+f.Name()), read("../postgres/migration/"+f.Name()); a != b {
			t.Errorf("%s:\nsqlite   %s\npostgres %s", f.Name(), a, b)
		}
	}
}
