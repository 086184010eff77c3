<#
.SYNOPSIS
Gets it.
#>
function Get-Order {
    [CmdletBinding()]
    param([int]$Id)
    begin { }
    process { Write-Host $Id }
}
# Sum.
function Shop::Add($a, $b) { $a + $b }
filter Even { if ($_ % 2 -eq 0) { $_ } }
class Shape : Base {
    [int]$Side
    Shape([int]$s) { $this.Side = $s }
    [int] Area() { return 1 }
    static [void] Run() { }
}
enum Colour { Red; Green }
$table = @{
    a = 1
    b = 2
}
function Get-Cart {
    <#
    .SYNOPSIS
    Gets a cart.
    #>
    Write-Host 1
}
