package consoletest

import (
	"plimsoll.dev/internal/pipeline"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
)

// Change is a diff as a run delivers it, of the files of Checked.
const Change = `diff --git a/.mcp.json b/.mcp.json
new file mode 100644
index 0000000000000000000000000000000000000000..1111111111111111111111111111111111111111
--- /dev/null
+++ b/.mcp.json
@@ -0,0 +1,5 @@
+{
+  "mcpServers": {
+    "pay": {"url": "https://pay.example/mcp"}
+  }
+}
diff --git a/main.go b/main.go
index 2222222222222222222222222222222222222222..3333333333333333333333333333333333333333 100644
--- a/main.go
+++ b/main.go
@@ -10,3 +10,3 @@ func main() {
 	open()
-	serve("old")
+	serve("new")
 	wait()
`

// Changed is a chain whose gate waits for its people, with the diff of its change.
func (w *World) Changed(intent, change string) (chain, gate contract.ID) {
	w.Helper()
	chain = w.Draft(intent)
	task := w.Activate(chain)
	result := Checked("review_publishable", "review", Row{
		Check: "SHIP-HOST-BOUNDARY-MCP-SERVER-ADDED", Action: "require_review", Risk: "high", Path: ".mcp.json", Line: 3, Title: "An MCP server was added",
	})
	w.Execute(task, Run{Phase: phase.Build, Boundary: result, Change: change})
	w.Reaches(chain, phase.Stabilize)
	w.Execute(task, Run{Phase: phase.Stabilize, Boundary: result, Change: change})
	acceptance := w.Judged(chain)
	w.Votes(acceptance, "lea", contract.ProjectLead)
	w.Votes(acceptance, "sam", contract.SecurityReviewer)
	return chain, w.Of(chain, contract.KindPublishGate)
}

// Begin claims a task of Build as bot, who stays at work.
func (w *World) Begin(task contract.ID) *pipeline.Claim {
	w.Helper()
	claim, err := w.Contracts.TaskClaim(w.Context(), w.As("bot", contract.Developer), pipeline.ClaimArgs{Task: task, Phase: pipeline.Phase(phase.Build), BaseCommit: Base})
	return Must(w, claim, err)
}

// Fail ends a run of Build without success.
func (w *World) Fail(claim *pipeline.Claim, reason string) {
	w.Helper()
	by := w.As("bot", contract.Developer)
	by.LockToken = claim.Run.LockToken
	put, err := w.Contracts.ArtifactPut(w.Context(), by, pipeline.ArtifactArgs{Execution: claim.Run.ExecutionID, Kind: pipeline.ArtifactKind(phase.ErrorLog), Bytes: []byte(reason + "\n")})
	Must(w, put, err)
	ended, err := w.Contracts.RunFail(w.Context(), by, pipeline.FailArgs{
		Execution: claim.Run.ExecutionID, Reason: reason, Evidence: account(claim.Run.BaseCommit, claim.Run.BaseCommit, contract.Hash([]byte(reason+"\n")), contract.EmptyDiffHash),
	})
	Must(w, ended, err)
}
