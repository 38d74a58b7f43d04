// Package starter writes the first manifest: what detection proves, and as
// questions with a ready patch what only a person knows
// (docs/spec/verification.md §18.2, rulings R12).
package starter
