# Remove HTML tags from a text.
def strip_tags(html)
  html.gsub(/<[^>]*>/, "")
end

# Count how often each word occurs.
def word_counts(text)
  text.split.tally
end

# Hash a password with a salt.
def hash_password(password, salt)
  Digest::SHA256.hexdigest(salt + password)
end
