# Units of measure.
module Units
  KM_PER_MILE = 1.609344

  def self.celsius_to_fahrenheit(degrees)
    raise ArgumentError, "no number" unless degrees.is_a?(Numeric)

    (degrees * 9.0 / 5 + 32).round(2)
  end

  def self.fahrenheit_to_celsius(degrees)
    raise ArgumentError, "no number" unless degrees.is_a?(Numeric)

    ((degrees - 32) * 5.0 / 9).round(2)
  end

  # Distance in kilometres of a distance in miles.
  def self.miles_to_km(miles, digits: 3)
    raise ArgumentError, "negative distance" if miles.negative?

    (miles * KM_PER_MILE).round(digits)
  end

  # Distance in miles of a distance in kilometres.
  def self.km_to_miles(km, digits: 3)
    raise ArgumentError, "negative distance" if km.negative?

    (km / KM_PER_MILE).round(digits)
  end

  # Digits of a number in base two.
  def self.to_binary(number)
    digits = []
    until number.zero?
      number, bit = number.divmod(2)
      digits.unshift(bit)
    end
    digits.empty? ? "0" : digits.join
  end

  # Number that binary digits stand for.
  def self.from_binary(digits)
    raise ArgumentError, "not binary: #{digits}" unless digits.match?(/\A[01]+\z/)

    digits.each_char.inject(0) { |value, bit| value * 2 + bit.to_i }
  end

  # 5_300_000 -> "5.3 MB"
  def self.human_size(bytes)
    units = %w[B kB MB GB TB]
    size = bytes.to_f
    while size >= 1000 && units.size > 1
      size /= 1000
      units.shift
    end
    format("%.1f %s", size, units.first)
  end

  # "5.3 MB" -> 5_300_000
  def self.size_in_bytes(text)
    match = text.match(/\A([\d.]+)\s*([kMGT]?)B\z/) or raise ArgumentError, text
    exponent = ["", "k", "M", "G", "T"].index(match[2])
    (match[1].to_f * 1000**exponent).round
  end

  # Great-circle distance between two points, in kilometres.
  def self.haversine(lat1, lon1, lat2, lon2)
    rad = Math::PI / 180
    dlat = (lat2 - lat1) * rad / 2
    dlon = (lon2 - lon1) * rad / 2
    a = Math.sin(dlat)**2 + Math.cos(lat1 * rad) * Math.cos(lat2 * rad) * Math.sin(dlon)**2
    2 * 6371 * Math.asin(Math.sqrt(a))
  end

  def self.bmi(kg, cm)
    metres = cm / 100.0
    raise ArgumentError, "height" unless metres.positive?

    (kg / metres**2).round(1)
  end
end
