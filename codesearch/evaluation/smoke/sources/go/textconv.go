// Package textconv turns values into text and back.
package textconv

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
)

// IntToString writes an integer in decimal digits.
func IntToString(n int) string {
	if n == 0 {
		return "0"
	}
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	var digits []byte
	for ; n > 0; n /= 10 {
		digits = append([]byte{byte('0' + n%10)}, digits...)
	}
	return sign + string(digits)
}

// StringToInt reads decimal digits, with an optional minus sign.
func StringToInt(s string) (int, error) {
	negative := strings.HasPrefix(s, "-")
	n := 0
	for _, c := range strings.TrimPrefix(s, "-") {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("not a digit: %q", c)
		}
		n = n*10 + int(c-'0')
	}
	if negative {
		n = -n
	}
	return n, nil
}

// HumanBytes prints a size in bytes the way people read it: 1536 is 1.5 KiB.
func HumanBytes(size int64) string {
	const units = "KMGTPE"
	if size < 1024 {
		return fmt.Sprintf("%d B", size)
	}
	value, unit := float64(size)/1024, 0
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", value, units[unit])
}

// ParseBytes understands sizes such as "10MB" or "1.5 GiB" and returns the number of bytes.
func ParseBytes(text string) (int64, error) {
	var value float64
	var unit string
	if _, err := fmt.Sscanf(strings.TrimSpace(text), "%g%s", &value, &unit); err != nil && unit != "" {
		return 0, err
	}
	power := strings.IndexByte("BKMGT", strings.ToUpper(unit + "B")[0])
	if power < 0 {
		return 0, errors.New("unknown unit " + unit)
	}
	return int64(value * math.Pow(1024, float64(power))), nil
}

// EncodeToken packs raw bytes into URL-safe base64 text.
func EncodeToken(raw []byte) string {
	encoded := base64.URLEncoding.EncodeToString(raw)
	return strings.TrimRight(encoded, "=")
}

// DecodeToken gives back the bytes behind a URL-safe base64 text, padded or not.
func DecodeToken(token string) ([]byte, error) {
	if missing := len(token) % 4; missing > 0 {
		token += strings.Repeat("=", 4-missing)
	}
	return base64.URLEncoding.DecodeString(token)
}

// QuoteShell wraps an argument in single quotes for use in a shell command.
func QuoteShell(arg string) string {
	safe := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./", r) }
	for _, r := range arg {
		if !safe(r) {
			return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return arg
}

// UnquoteShell removes the quotes around one word of a shell command.
func UnquoteShell(word string) (string, error) {
	var out strings.Builder
	quoted, escaped := false, false
	for _, r := range word {
		switch {
		case escaped:
			out.WriteRune(r)
			escaped = false
		case r == '\\' && !quoted:
			escaped = true
		case r == '\'':
			quoted = !quoted
		default:
			out.WriteRune(r)
		}
	}
	if quoted {
		return "", errors.New("quote is not closed")
	}
	return out.String(), nil
}

// ReverseString turns a text around without breaking characters of several bytes.
func ReverseString(s string) string {
	runes := []rune(s)
	for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
		runes[i], runes[j] = runes[j], runes[i]
	}
	return string(runes)
}

func degToRad(deg float64) float64 {
	turns := math.Mod(deg, 360)
	if turns < 0 {
		turns += 360
	}
	return turns * math.Pi / 180
}

func radToDeg(rad float64) float64 {
	deg := rad * 180 / math.Pi
	for deg < 0 {
		deg += 360
	}
	return math.Mod(deg, 360)
}
