# Convert a hash to a query string.
def hash_to_query(hash)
  hash.map { |key, value| "#{escape(key)}=#{escape(value)}" }.join('&')
end

# Convert a query string to a hash.
def query_to_hash(query)
  query.split('&').to_h { |pair| pair.split('=', 2).map { |part| unescape(part) } }
end

def camelize(term)
  term.split('_').map(&:capitalize).join
end

def underscore(camel_cased_word)
  camel_cased_word.gsub(/([A-Z])/) { "_#{$1.downcase}" }.delete_prefix('_')
end

# Makes an integer of a Roman numeral.
def roman_to_i(roman)
  roman.chars.each_cons(2).sum { |a, b| VALUES[a] < VALUES[b] ? -VALUES[a] : VALUES[a] } + VALUES[roman[-1]]
end

# Makes a Roman numeral of an integer.
def i_to_roman(integer)
  SYMBOLS.reduce('') do |roman, (symbol, value)|
    count, integer = integer.divmod(value)
    roman + symbol * count
  end
end

def symbolize_keys(hash)
  hash.transform_keys { |key| key.to_sym }
end

def stringify_keys(hash)
  hash.transform_keys { |key| key.to_s }
end

def array_to_hash(pairs)
  pairs.each_with_object({}) { |(key, value), hash| hash[key] = value }
end

def hash_to_array(hash)
  hash.map { |key, value| [key, value] }
end

def cents_to_dollars(cents)
  format('$%.2f', cents / 100.0)
end

def dollars_to_cents(dollars)
  (dollars.delete('$').to_f * 100).round
end

def bin_to_hex(bytes)
  bytes.unpack1('H*')
end

def hex_to_bin(hex)
  [hex].pack('H*')
end

class Markup
  # Returns the document as XML.
  def to_xml(document)
    builder = Builder.new
    document.each { |name, value| builder.tag(name, value) }
    builder.target
  end

  # Builds the document from XML.
  def from_xml(xml)
    REXML::Document.new(xml).root.elements.to_h { |element| [element.name, element.text] }
  end
end

def str2date(str)
  Date.strptime(str, '%Y-%m-%d')
end

def date2str(date)
  date.strftime('%Y-%m-%d')
end

def yaml_to_json(yaml)
  JSON.pretty_generate(YAML.safe_load(yaml))
end

def json_to_yaml(json)
  JSON.parse(json).to_yaml
end

# Convert Fahrenheit to Celsius.
def to_celsius(fahrenheit)
  (fahrenheit - 32) * 5.0 / 9
end

# Convert Celsius to Fahrenheit.
def to_fahrenheit(celsius)
  celsius * 9.0 / 5 + 32
end
