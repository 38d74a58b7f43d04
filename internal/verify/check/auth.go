package check

var authChecks []*Check
