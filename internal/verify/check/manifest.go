package check

var manifestChecks []*Check
