require_relative "units"

RSpec.describe Units do
  it "goes to Fahrenheit and back" do
    expect(Units.celsius_to_fahrenheit(100)).to eq(212.0)
    expect(Units.fahrenheit_to_celsius(212)).to eq(100.0)
  end

  # A number near another, for floats.
  def nearly(value, epsilon = 0.01)
    low = value - epsilon
    high = value + epsilon
    be_between(low, high)
  end

  # Write a CSV file for one example and remove it after.
  def with_csv(rows)
    file = Tempfile.new(["rows", ".csv"])
    rows.each { |row| file.puts(row.join(",")) }
    file.close
    yield file.path
  ensure
    file.unlink
  end
end
