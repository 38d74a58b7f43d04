package screen

// Forms is every way a text is read in.
func Forms(s string) []Text {
	var list []Text
	for _, f := range forms(s) {
		list = append(list, f.text, f.folded, rot13(f.folded), reversed(f.folded))
	}
	return list
}
