// Command bare does nothing: how long the smallest Go program takes to start
// and end on this machine.
package main

func main() {}
