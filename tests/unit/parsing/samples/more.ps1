class Shape { [int]$Side = 1
 static [string] $Name }
enum Colour { Red; Green = 2 }
