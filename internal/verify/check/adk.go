package check

var adkChecks []*Check
