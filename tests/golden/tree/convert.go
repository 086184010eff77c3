package convert

import "strconv"

// IntToString formats an integer in base ten.
func IntToString(value int) string {
	return strconv.Itoa(value)
}

// StringToInt parses a string into an integer.
func StringToInt(text string) (int, error) {
	return strconv.Atoi(text)
}

// Reverse turns a slice around in place.
func Reverse(values []int) {
	for i, j := 0, len(values)-1; i < j; i, j = i+1, j-1 {
		values[i], values[j] = values[j], values[i]
	}
}

// Max returns the largest of the values.
func Max(values []int) int {
	best := values[0]
	for _, value := range values {
		if value > best {
			best = value
		}
	}
	return best
}
