# A shop.
{ lib, pkgs, ... }:
let
  # Twice it.
  twice = x: x * 2;
  pair = { a, b }: a + b;
in
{
  options.services.shop = {
    enable = lib.mkEnableOption "shop";
  };
  config = lib.mkIf cfg.enable {
    systemd.services.shop = {
      script = ''
        run
      '';
    };
  };
  mkShop = name: args:
    pkgs.stdenv.mkDerivation { inherit name; };
}
