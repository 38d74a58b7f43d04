// Package manual prints what a program's commands say of themselves: a page of
// documentation and a manual page for each, and completion for four shells. The
// commands are the only source; nothing is written by hand.
package manual

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// File is one printed file. Name is slash separated and relative.
type File struct {
	Name string
	Text []byte
}

// Pages prints a Markdown page for root and every command below it that its help
// lists, in the order of the help.
func Pages(root *cobra.Command) ([]File, error) {
	return each(root, ".md", func(c *cobra.Command, b *bytes.Buffer) error {
		return doc.GenMarkdownCustom(c, b, func(link string) string { return link })
	})
}

// Man prints a manual page in section 1 for root and every command below it.
// version stands in the footer; day is the date in it.
func Man(root *cobra.Command, version string, day time.Time) ([]File, error) {
	return each(root, ".1", func(c *cobra.Command, b *bytes.Buffer) error {
		return doc.GenMan(c, &doc.GenManHeader{Section: "1", Source: "Plimsoll " + version, Manual: "Plimsoll", Date: &day}, b)
	})
}

// Completions prints the completion of root for bash, zsh, fish and PowerShell,
// each under the name by which its shell finds it.
func Completions(root *cobra.Command) ([]File, error) {
	name := root.Name()
	shells := []struct {
		file  string
		print func(*bytes.Buffer) error
	}{
		{path.Join("bash", name), func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) }},
		{path.Join("fish", name+".fish"), func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
		{path.Join("powershell", name+".ps1"), func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) }},
		{path.Join("zsh", "_"+name), func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
	}
	files := make([]File, 0, len(shells))
	for _, s := range shells {
		var b bytes.Buffer
		if err := s.print(&b); err != nil {
			return nil, fmt.Errorf("completion %s: %w", s.file, err)
		}
		files = append(files, File{Name: s.file, Text: b.Bytes()})
	}
	return files, nil
}

// each prints a command and those below it, named as their path with dashes.
func each(c *cobra.Command, suffix string, print func(*cobra.Command, *bytes.Buffer) error) ([]File, error) {
	// A date of the day in every page would make each build another.
	c.DisableAutoGenTag = true
	if !c.HasParent() {
		c.InitDefaultHelpCmd()
		c.InitDefaultCompletionCmd()
	}
	var b bytes.Buffer
	if err := print(c, &b); err != nil {
		return nil, fmt.Errorf("page of %s: %w", c.CommandPath(), err)
	}
	separator := "-"
	if suffix == ".md" {
		separator = "_" // as the pages link to each other
	}
	files := []File{{Name: strings.ReplaceAll(c.CommandPath(), " ", separator) + suffix, Text: b.Bytes()}}
	for _, below := range c.Commands() {
		if !below.IsAvailableCommand() || below.IsAdditionalHelpTopicCommand() {
			continue
		}
		more, err := each(below, suffix, print)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}
