package check

var verifyChecks []*Check
