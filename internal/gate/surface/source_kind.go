package surface

// What lies at the path of a tool source, as Input.Manifest.SourceKinds of
// package gate says it.
const (
	SourceFile        = "file"
	SourceDir         = "dir"
	SourcePlugin      = "plugin"      // a package folder with .codex-plugin/plugin.json
	SourceMarketplace = "marketplace" // a plugin marketplace file
)
