package check

var boundaryChecks []*Check
