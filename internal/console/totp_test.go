package console_test

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what authenticator apps use (RFC 6238)
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"time"
)

// totp is the code that an authenticator app shows.
func totp(secret string, at time.Time) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return ""
	}
	m := hmac.New(sha1.New, key)
	_ = binary.Write(m, binary.BigEndian, uint64(at.Unix()/30))
	sum := m.Sum(nil)
	i := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[i:])&0x7fffffff%1_000_000)
}
