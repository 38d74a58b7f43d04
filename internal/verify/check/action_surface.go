package check

var actionSurface []*Check
