" Location: autoload/shop.vim

function! shop#total(lines) abort
  return a:lines
endfunction
