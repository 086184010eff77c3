# frozen_string_literal: true

require "cgi"

# Text in one form to text in another.
module TextTools
  IRREGULAR = { "child" => "children", "person" => "people", "mouse" => "mice" }.freeze

  module_function

  # Plural of an English noun.
  def pluralize(noun)
    return IRREGULAR[noun] if IRREGULAR.key?(noun)

    case noun
    when /[^aeiou]y\z/ then noun.sub(/y\z/, "ies")
    when /(s|x|z|ch|sh)\z/ then "#{noun}es"
    else "#{noun}s"
    end
  end

  # Singular of an English noun.
  def singularize(noun)
    irregular = IRREGULAR.key(noun)
    return irregular if irregular

    case noun
    when /ies\z/ then noun.sub(/ies\z/, "y")
    when /(s|x|z|ch|sh)es\z/ then noun.delete_suffix("es")
    else noun.delete_suffix("s")
    end
  end

  # ActiveRecord -> active_record
  def underscore(name)
    name.gsub("::", "/")
        .gsub(/([A-Z]+)([A-Z][a-z])/, '\1_\2')
        .gsub(/([a-z\d])([A-Z])/, '\1_\2')
        .downcase
  end

  # active_record -> ActiveRecord
  def camelize(name)
    name.split("/").map do |part|
      part.split("_").map(&:capitalize).join
    end.join("::")
  end

  # A little Markdown as HTML: headings, emphasis, paragraphs.
  def markdown_to_html(source)
    source.split(/\n{2,}/).map do |block|
      inline = block.gsub(/\*\*(.+?)\*\*/, '<b>\1</b>').gsub(/\*(.+?)\*/, '<i>\1</i>')
      if (heading = inline.match(/\A(#+)\s+(.*)/))
        level = heading[1].size
        "<h#{level}>#{heading[2]}</h#{level}>"
      else
        "<p>#{inline}</p>"
      end
    end.join("\n")
  end

  # Simple HTML as Markdown.
  def html_to_markdown(html)
    html.gsub(%r{<h(\d)>(.*?)</h\1>}) { "#{'#' * $1.to_i} #{$2}\n\n" }
        .gsub(%r{</?(b|strong)>}, "**")
        .gsub(%r{</?(i|em)>}, "*")
        .gsub(%r{<p>(.*?)</p>}m, "\\1\n\n")
        .strip
  end

  def escape_html(text)
    return "" if text.nil?

    CGI.escapeHTML(text.to_s)
       .gsub("`", "&#96;")
  end

  def unescape_html(html)
    return "" if html.nil?

    CGI.unescapeHTML(html)
       .tr("\u00a0", " ")
  end

  # Remove all tags, keep the text between them.
  def strip_tags(html)
    html.gsub(%r{<(script|style).*?</\1>}mi, "")
        .gsub(/<[^>]+>/, " ")
        .squeeze(" ")
        .strip
  end

  # "aaab" -> [["a", 3], ["b", 1]]
  def rle(text)
    text.each_char
        .chunk_while { |a, b| a == b }
        .map { |run| [run.first, run.size] }
  end

  # [["a", 3], ["b", 1]] -> "aaab"
  def unrle(runs)
    runs.each_with_object(+"") do |(char, count), text|
      text << char * count
    end
  end

  # Names joined the way people write a list: "a, b and c".
  def sentence(words, last = "and")
    case words.size
    when 0, 1 then words.first.to_s
    else "#{words[0..-2].join(', ')} #{last} #{words.last}"
    end
  end
end
