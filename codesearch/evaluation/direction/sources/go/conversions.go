package conversions

// Itoa gives the decimal form of a number.
func Itoa(i int) string {
	return FormatInt(int64(i), 10)
}

// Atoi reads a decimal number.
func Atoi(s string) (int, error) {
	n, err := ParseInt(s, 10, 0)
	return int(n), err
}

func FormatBool(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func ParseBool(str string) (bool, error) {
	switch str {
	case "1", "t", "true", "TRUE":
		return true, nil
	case "0", "f", "false", "FALSE":
		return false, nil
	}
	return false, errSyntax("ParseBool", str)
}

// EncodeToString returns the hexadecimal encoding of src.
func EncodeToString(src []byte) string {
	dst := make([]byte, 2*len(src))
	encode(dst, src)
	return string(dst)
}

// DecodeString returns the bytes represented by the hexadecimal string s.
func DecodeString(s string) ([]byte, error) {
	dst := []byte(s)
	n, err := decode(dst, dst)
	return dst[:n], err
}

func TimestampProto(t time.Time) (*tspb.Timestamp, error) {
	ts := &tspb.Timestamp{Seconds: t.Unix(), Nanos: int32(t.Nanosecond())}
	return ts, validate(ts)
}

func Timestamp(ts *tspb.Timestamp) (time.Time, error) {
	if ts == nil {
		return time.Unix(0, 0).UTC(), errNil
	}
	return time.Unix(ts.Seconds, int64(ts.Nanos)).UTC(), validate(ts)
}

// InetAton converts an IPv4 address to an unsigned integer.
func InetAton(ip net.IP) uint32 {
	return binary.BigEndian.Uint32(ip.To4())
}

// InetNtoa converts an unsigned integer to an IPv4 address.
func InetNtoa(n uint32) net.IP {
	ip := make(net.IP, 4)
	binary.BigEndian.PutUint32(ip, n)
	return ip
}

func CToF(c Celsius) Fahrenheit {
	return Fahrenheit(c*9/5 + 32)
}

func FToC(f Fahrenheit) Celsius {
	return Celsius((f - 32) * 5 / 9)
}

// YAMLToJSON converts a YAML document, whose keys must be strings.
func YAMLToJSON(y []byte) ([]byte, error) {
	var document any
	if err := yaml.Unmarshal(y, &document); err != nil {
		return nil, err
	}
	return json.Marshal(document)
}

// JSONToYAML converts a JSON document; numbers keep their form.
func JSONToYAML(j []byte) ([]byte, error) {
	var document any
	if err := yaml.Unmarshal(j, &document); err != nil {
		return nil, err
	}
	return yaml.Marshal(document)
}

func ParseQuery(query string) (Values, error) {
	m := make(Values)
	for query != "" {
		var key string
		key, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(key, "=")
		m[key] = append(m[key], value)
	}
	return m, nil
}

func (v Values) Encode() string {
	var buf strings.Builder
	for key, values := range v {
		for _, value := range values {
			buf.WriteString(key + "=" + value + "&")
		}
	}
	return buf.String()
}

func ParseDuration(s string) (Duration, error) {
	var d uint64
	for s != "" {
		v, f, rest := leadingInt(s)
		d += v * unitMap[f]
		s = rest
	}
	return Duration(d), nil
}

func (d Duration) String() string {
	var arr [32]byte
	n := d.format(&arr)
	return string(arr[n:])
}

func BytesToRunes(b []byte) []rune {
	return []rune(string(b))
}

func RunesToBytes(r []rune) []byte {
	return []byte(string(r))
}

func RGBToHSL(c RGB) HSL {
	high, low := max(c.R, c.G, c.B), min(c.R, c.G, c.B)
	return HSL{hue(c, high, low), saturation(high, low), (high + low) / 2}
}

func HSLToRGB(c HSL) RGB {
	q := c.L + c.S - c.L*c.S
	p := 2*c.L - q
	return RGB{channel(p, q, c.H+1.0/3), channel(p, q, c.H), channel(p, q, c.H-1.0/3)}
}
