package check

var n8nChecks []*Check
