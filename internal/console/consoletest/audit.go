package consoletest

import "database/sql"

// Damage changes the database behind the back of the service, as somebody would
// who can write to its file.
func (w *World) Damage(statement string, args ...any) {
	w.Helper()
	db, err := sql.Open("sqlite", "file:"+w.database+"?_pragma=busy_timeout(10000)")
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	done, err := db.ExecContext(w.Context(), statement, args...)
	if err != nil {
		w.Fatal(err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		w.Fatalf("%s changed nothing (%v)", statement, err)
	}
}
