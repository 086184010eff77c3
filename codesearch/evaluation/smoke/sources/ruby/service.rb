require "logger"
require "net/http"
require "securerandom"
require "socket"
require "timeout"
require "zlib"

# A service that runs in the background.
class Service
  attr_reader :pid

  def initialize(name, logger: Logger.new($stdout))
    @name = name
    @logger = logger
    @jobs = Queue.new
  end

  # Start the service in a process of its own.
  def start
    raise "#{@name} runs already" if @pid

    @pid = Process.fork { work until stopped? }
    File.write("/tmp/#{@name}.pid", @pid)
    @logger.info("#{@name} started")
  end

  # Stop the service, gently at first.
  def stop(patience = 5)
    Process.kill(:TERM, @pid)
    Timeout.timeout(patience) { Process.wait(@pid) }
  rescue Timeout::Error
    Process.kill(:KILL, @pid)
  ensure
    @pid = nil
  end

  # Serialize a job for the queue.
  def self.dump_job(job)
    payload = Marshal.dump([job.class.name, job.to_h])
    checksum = [Zlib.crc32(payload)].pack("N")
    checksum + payload
  end

  # Deserialize a job from the queue.
  def self.load_job(bytes)
    checksum, payload = bytes.unpack("Na*")
    raise "job is damaged" unless Zlib.crc32(payload) == checksum

    name, attributes = Marshal.load(payload)
    Object.const_get(name).new(**attributes)
  end

  # POST a form and return the answer's body.
  def self.post_form(address, fields)
    response = Net::HTTP.post_form(URI(address), fields)
    case response
    when Net::HTTPSuccess then response.body
    when Net::HTTPRedirection then post_form(response["location"], fields)
    else raise "#{address}: #{response.code}"
    end
  end

  def self.with_retries(times, on: StandardError)
    attempt = 0
    begin
      yield
    rescue *on
      attempt += 1
      retry if attempt < times
      raise
    end
  end

  # Time a block and log how long it took.
  def measure(label)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    result = yield
    taken = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
    @logger.debug(format("%s: %.1f ms", label, taken * 1000))
    result
  end

  # Answer lines on a TCP port, a thread for each client.
  def listen(port)
    server = TCPServer.new("127.0.0.1", port)
    loop do
      Thread.new(server.accept) do |client|
        client.each_line { |line| client.puts(yield(line.chomp)) }
      ensure
        client.close
      end
    end
  end

  def self.random_token(bytes = 16)
    token = SecureRandom.urlsafe_base64(bytes)
    raise "no randomness" if token.empty?

    token.tr("-_", "ab")
  end

  # Parse command line flags into a hash: --name value, --flag.
  def self.parse_flags(argv)
    flags = {}
    until argv.empty?
      name = argv.shift.delete_prefix("--").tr("-", "_").to_sym
      flags[name] = argv.first&.start_with?("--") || argv.empty? ? true : argv.shift
    end
    flags
  end

  private

  def stopped?
    state = File.read("/tmp/#{@name}.state").strip
    state == "stop"
  rescue Errno::ENOENT
    false
  end
end
