package control

// RowOf is the number of the row of §7.3 that holds for f.
func RowOf(f Facts) string { return judge(&f).row().number }

// RowNumbers is every row of the table, in order.
func RowNumbers() []string {
	var list []string
	for i := range table {
		list = append(list, table[i].number)
	}
	return list
}
