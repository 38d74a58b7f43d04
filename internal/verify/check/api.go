package check

var apiChecks []*Check
