// Package hook speaks the hook protocols of the hosts: it reads what a host asks
// when its agent wants to stop, words the answer in the form that the host
// understands, and renders the command line that stands in the host's settings
// (docs/spec/verification.md §21.6).
//
// Everything in it fails closed. Hosts let an agent go when its hook is missing,
// crashes, is late or talks nonsense; so the command line is a small shell
// program that takes only answers it knows, and answers "go on" by itself
// whenever it has none.
package hook
