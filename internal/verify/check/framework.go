package check

var frameworkChecks []*Check
