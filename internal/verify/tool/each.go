package tool

// Each does n pieces of work that do not depend on each other, and comes back
// when all are done. Whoever runs verification says how: this code starts
// nothing by itself. Nil does one after the other.
type Each func(n int, do func(i int))

// Do does the work.
func (e Each) Do(n int, do func(i int)) {
	if e != nil && n > 1 {
		e(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}
