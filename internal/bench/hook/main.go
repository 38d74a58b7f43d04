// Command hook measures hook runs under load.
package main

func main() {}
