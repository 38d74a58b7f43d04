// Command shipgate-mcp serves the gate over the Model Context Protocol.
package main

func main() {}
