require "csv"
require "digest"
require "fileutils"
require "json"
require "yaml"
require "zlib"

# Files and what is in them.
class Storage
  def initialize(root)
    @root = File.expand_path(root)
    FileUtils.mkdir_p(@root)
    @lock = nil
  end

  # Read settings from a YAML file.
  def load_settings(name)
    path = File.join(@root, "#{name}.yml")
    return {} unless File.exist?(path)

    YAML.safe_load_file(path, symbolize_names: true) || {}
  end

  # Write settings to a YAML file.
  def save_settings(name, settings)
    path = File.join(@root, "#{name}.yml")
    plain = JSON.parse(JSON.generate(settings))
    File.write(path, YAML.dump(plain))
  end

  # Import people from a CSV file with a header.
  def import_csv(name)
    rows = []
    CSV.foreach(File.join(@root, name), headers: true, header_converters: :symbol) do |row|
      rows << row.to_h.transform_values { |value| value&.strip }
    end
    rows
  end

  # Export rows to a CSV file.
  def export_csv(name, rows)
    CSV.open(File.join(@root, name), "w") do |csv|
      csv << rows.first.keys
      rows.each { |row| csv << row.values }
    end
  end

  def deflate(name)
    data = File.binread(File.join(@root, name))
    packed = Zlib::Deflate.deflate(data, Zlib::BEST_COMPRESSION)
    File.binwrite(File.join(@root, "#{name}.z"), packed)
    packed.bytesize.fdiv(data.bytesize)
  end

  def inflate(name)
    packed = File.binread(File.join(@root, name))
    data = Zlib::Inflate.inflate(packed)
    File.binwrite(File.join(@root, name.delete_suffix(".z")), data)
    data.bytesize
  end

  # Keep other processes out.
  def lock
    @lock ||= File.open(File.join(@root, ".lock"), File::CREAT | File::RDWR)
    return true if @lock.flock(File::LOCK_EX | File::LOCK_NB)

    raise "#{@root} is in use"
  end

  # Let other processes in again.
  def unlock
    return unless @lock

    @lock.flock(File::LOCK_UN)
    @lock.close
    @lock = nil
  end

  # Back a file up under the date of today.
  def backup(name)
    source = File.join(@root, name)
    target = "#{source}.#{Time.now.strftime('%Y%m%d')}"
    FileUtils.cp(source, target, preserve: true)
    target
  end

  # Bring the newest backup of a file back.
  def restore(name)
    source = File.join(@root, name)
    newest = Dir.glob("#{source}.*").max
    raise "no backup of #{name}" unless newest

    FileUtils.cp(newest, source, preserve: true)
  end

  # Lines that match a pattern, with their numbers, as grep prints them.
  def grep(name, pattern)
    found = []
    File.foreach(File.join(@root, name)).with_index(1) do |line, number|
      found << [number, line.chomp] if line.match?(pattern)
    end
    found
  end

  def prune(days)
    limit = Time.now - days * 86_400
    old = Dir.glob(File.join(@root, "**", "*")).select do |path|
      File.file?(path) && File.mtime(path) < limit
    end
    old.each { |path| File.delete(path) }
    old.size
  end
end
