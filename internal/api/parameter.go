package api

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/refusal"
)

// Parameters are the fields of a struct with a tag that says where they stand:
// path:"id", query:"state" or header:"Plimsoll-Lock-Token". A slice takes every
// repetition; anything else may be given once. A field that is not tagged
// required:"true" may be missing and is then its zero value; one that is tagged
// empty:"true" may be given without a value.

var timeType = reflect.TypeFor[time.Time]()

// decodeParameters reads the parameters of r into out, a pointer to a struct;
// query is what is left of its query. A
// query parameter that no field takes is refused: a filter that was misspelled
// must not select everything.
func decodeParameters(r *http.Request, query url.Values, out any) error {
	v := reflect.ValueOf(out).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		in, key := place(f)
		var values []string
		switch in {
		case "path":
			values = []string{r.PathValue(key)}
		case "query":
			values = query[key]
			delete(query, key)
		case "header":
			values = r.Header.Values(key)
		default:
			continue
		}
		if len(values) == 0 {
			if f.Tag.Get("required") == "true" {
				return refuse(refusal.RequestMalformed, "the %s parameter %s is missing", in, key)
			}
			continue
		}
		out := v.FieldByIndex(f.Index)
		if in == "path" {
			out.SetString(values[0]) // what does not exist is not found, whatever its form
			continue
		}
		if f.Tag.Get("empty") == "true" && len(values) == 1 && values[0] == "" {
			continue
		}
		if err := setParameter(out, values); err != "" {
			return refuse(refusal.RequestMalformed, "the %s parameter %s %s", in, key, err)
		}
	}
	if len(query) > 0 {
		unknown := make([]string, 0, len(query))
		for key := range query {
			unknown = append(unknown, key)
		}
		slices.Sort(unknown)
		return refuse(refusal.RequestMalformed, "there is no query parameter %q here", unknown[0])
	}
	return nil
}

// place is where a parameter stands and what it is called there.
func place(f reflect.StructField) (in, name string) {
	for _, in := range []string{"path", "query", "header"} {
		if name, ok := f.Tag.Lookup(in); ok {
			return in, name
		}
	}
	return "", ""
}

// setParameter answers what is wrong, "" when nothing is.
func setParameter(out reflect.Value, values []string) string {
	if out.Kind() == reflect.Slice {
		made := reflect.MakeSlice(out.Type(), len(values), len(values))
		for i, value := range values {
			if err := setScalar(made.Index(i), value); err != "" {
				return err
			}
		}
		out.Set(made)
		return ""
	}
	if len(values) > 1 {
		return "is given more than once"
	}
	if out.Kind() == reflect.Pointer {
		out.Set(reflect.New(out.Type().Elem()))
		out = out.Elem()
	}
	return setScalar(out, values[0])
}

// parsed is a type that reads itself.
type parsed interface {
	parameter(text string) (wrong string)
}

func setScalar(out reflect.Value, value string) string {
	if self, ok := out.Addr().Interface().(parsed); ok {
		return self.parameter(value)
	}
	if out.Type() == timeType {
		stamp, ok := contract.ParseTimestamp(value)
		if !ok {
			return "is no time like 2026-03-29T10:00:00Z"
		}
		out.Set(reflect.ValueOf(stamp.Time()))
		return ""
	}
	switch out.Kind() {
	case reflect.String:
		if value == "" {
			return "is empty"
		}
		out.SetString(value)
		if v, ok := out.Interface().(interface{ Valid() bool }); ok && !v.Valid() {
			return "is " + strconv.Quote(value) + ", which is none of its values"
		}
	case reflect.Bool:
		if value != "true" && value != "false" {
			return "is neither true nor false"
		}
		out.SetBool(value == "true")
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return "is no integer"
		}
		out.SetInt(n)
	default:
		panic("api: a parameter cannot be a " + out.Type().String())
	}
	return ""
}
