package check

var codexPluginChecks []*Check
