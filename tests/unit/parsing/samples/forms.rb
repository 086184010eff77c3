class << Cart
  def opened
    1
  end
end

Cart.define_method(:sum) { 1 }
Cart.define_singleton_method("made") { 1 }
Cart.send(:define_method, :sent) { 1 }
Cart.singleton_class.define_method(:single) { 1 }
Cart.define_method(:==) { |other| true }
Cart.instance_eval do
  def evaluated; end
end
Shop::Cart.class_exec do
  def nested; end
end
Cart.singleton_class.class_eval do
  def of_class; end
end
