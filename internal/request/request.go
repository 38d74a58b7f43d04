// Package request is the circle's only entry point and what it keeps: requests,
// the runs of workers that serve them, and the ports it needs
// (docs/spec/circle.md §6).
package request
