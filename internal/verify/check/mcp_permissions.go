package check

var mcpPermissions []*Check
