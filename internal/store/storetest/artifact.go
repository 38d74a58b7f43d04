package storetest

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
)

func artifacts(t *testing.T, open Open) {
	t.Helper()
	one := func(run string, kind pipeline.ArtifactKind, text []byte) pipeline.Artifact {
		return pipeline.Artifact{
			ExecutionID: run, Kind: kind, Chain: "IC-001", Correlation: "IC-001", Task: pipeline.Ref{ID: "TS-001", Version: 2}, Phase: "Build",
			SHA256: contract.Hash(text), Size: int64(len(text)), MediaType: "text/plain; charset=utf-8", Bytes: text, At: start,
		}
	}

	t.Run("an artifact never changes", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		log := one("run-1", "build_log", []byte("ok \x00 \xff\n"))
		b.update(func(tx pipeline.Tx) error {
			if err := tx.AddArtifact(one("run-1", "unit_test_result", []byte("{}"))); err != nil {
				return err
			}
			if err := tx.AddArtifact(one("run-2", "build_log", nil)); err != nil {
				return err
			}
			return tx.AddArtifact(log)
		})
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.AddArtifact(log) })
		b.refuse(fault.Conflict, func(tx pipeline.Tx) error { return tx.AddArtifact(one("run-1", "build_log", []byte("other"))) })
		b.refuse(fault.Invalid, func(tx pipeline.Tx) error { // bytes that are not those of the digest
			a := one("run-3", "build_log", []byte("x"))
			a.Bytes = []byte("y")
			return tx.AddArtifact(a)
		})
		b.view(func(r pipeline.Reader) error {
			got, err := r.Artifact("run-1", "build_log")
			if err != nil {
				return err
			}
			if diff := cmp.Diff(&log, got); diff != "" {
				t.Errorf("the artifact differs (-want +got):\n%s", diff)
			}
			if empty, err := r.Artifact("run-2", "build_log"); err != nil || !bytes.Equal(empty.Bytes, nil) {
				t.Errorf("the empty log is %v (%v)", empty, err)
			}
			if _, err := r.Artifact("run-1", "release_note"); !b.absent(err) {
				t.Error("an artifact was found that is not there")
			}
			list, err := r.Artifacts("IC-001")
			if got := ids(list, func(a pipeline.Artifact) string { return a.ExecutionID + "/" + string(a.Kind) }); got != "run-1/build_log run-1/unit_test_result run-2/build_log " {
				t.Errorf("the artifacts are %s", got)
			}
			for _, a := range list {
				if a.Bytes != nil {
					t.Errorf("the list carries the bytes of %s", a.Kind)
				}
			}
			return err
		})
	})

	t.Run("reviews are kept in order", func(t *testing.T) {
		b := newBench(t, open)
		family(b)
		want := []pipeline.Review{}
		for i, verdict := range []string{"changes_requested", "approved"} {
			v := pipeline.Review{
				Chain: "IC-001", Task: pipeline.Ref{ID: "TS-001", Version: 2}, Reviewer: "ada", Role: contract.ProjectLead, Verdict: verdict,
				HeadCommit: "89abcde", DiffHash: "sha256:aa", Text: []byte(`{"verdict":"` + verdict + `"}`), At: start.Add(time.Duration(i) * time.Second),
			}
			want = append(want, v)
			b.update(func(tx pipeline.Tx) error { return tx.AddReview(v) })
		}
		b.view(func(r pipeline.Reader) error {
			got, err := r.Reviews(pipeline.Ref{ID: "TS-001", Version: 2})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("the reviews differ (-want +got):\n%s (%v)", diff, err)
			}
			if none, err := r.Reviews(pipeline.Ref{ID: "TS-001", Version: 1}); err != nil || len(none) != 0 {
				t.Errorf("the first version has the reviews %v (%v)", none, err)
			}
			several, err := r.Reviews(pipeline.Ref{ID: "TS-001", Version: 1}, pipeline.Ref{ID: "TS-001", Version: 2}, pipeline.Ref{ID: "TS-404", Version: 1})
			if diff := cmp.Diff(want, several); diff != "" || err != nil {
				t.Errorf("the reviews of several differ (-want +got):\n%s (%v)", diff, err)
			}
			if none, err := r.Reviews(); err != nil || none == nil || len(none) != 0 {
				t.Errorf("no task has the reviews %v (%v)", none, err)
			}
			return err
		})
	})
}
