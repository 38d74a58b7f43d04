package check

var inventoryChecks []*Check
