# Installs locallm or dataq on Windows for the current user, from a release: an archive, SHA256SUMS, and its signature.
#   ./install.ps1 [locallm|dataq]
#                 -From ADDRESS     folder or address of a release (or $env:RELEASE_FROM)
#                 -Key KEY          minisign's public key; the signature of SHA256SUMS must be by it (or $env:RELEASE_KEY)
#   ./install.ps1 -Uninstall        removes the program; data and settings stay
# It changes nothing before the archive is downloaded, checked and tried. Never run on Windows yet.
param([ValidateSet("locallm", "dataq")][string]$Product = "locallm", [string]$From = $env:RELEASE_FROM, [string]$Key = $env:RELEASE_KEY, [switch]$Uninstall)
$ErrorActionPreference = "Stop"
$ProgressPreference = "SilentlyContinue"
$folder = Join-Path $env:LOCALAPPDATA "Programs\$Product"
$bin = Join-Path $folder "bin"
function Get-UserPath { @([Environment]::GetEnvironmentVariable("Path", "User") -split ";" | Where-Object { $_ }) }

if ($Uninstall) {
  if (-not (Test-Path $folder)) { throw "$Product is not installed in $folder" }
  Remove-Item -Recurse -Force $folder
  [Environment]::SetEnvironmentVariable("Path", ((Get-UserPath | Where-Object { $_ -ne $bin }) -join ";"), "User")
  Write-Output "Removed $folder. Data and settings stay."
  return
}
if (-not $From) { throw "no release is published yet. Name the folder or the address of one: -From" }
if (Test-Path $folder) { throw "$Product is installed in $folder. To replace it: $Product update" }
$work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory $work | Out-Null
function Get-File([string]$name) {
  $to = Join-Path $work $name
  if ($From -match "^https?://") { Invoke-WebRequest -UseBasicParsing "$($From.TrimEnd('/'))/$name" -OutFile $to }
  else { Copy-Item (Join-Path $From $name) $to }
  $to
}
try {
  $sums = Get-File "SHA256SUMS"
  if ($Key) {
    if (-not (Get-Command minisign -ErrorAction SilentlyContinue)) { throw "minisign is needed to check the signature. Install it, or leave out -Key" }
    Get-File "SHA256SUMS.minisig" | Out-Null
    & minisign -Vqm $sums -P $Key | Out-Null
    if ($LASTEXITCODE -ne 0) { throw "SHA256SUMS is not signed by this key" }
    Write-Output "The signature of SHA256SUMS is right."
  }
  $line = Get-Content $sums | Where-Object { $_ -match "^[0-9a-f]{64}  $Product-[0-9].*-win-x64\.zip$" } | Select-Object -First 1
  if (-not $line) { throw "this release has no $Product for win-x64" }
  $wanted, $archive = $line -split "  "
  Write-Output "Getting $archive ..."
  $file = Get-File $archive
  if ((Get-FileHash -Algorithm SHA256 $file).Hash -ne $wanted) { throw "$archive has another digest than SHA256SUMS says: the download is cut or changed. Try again" }
  Write-Output "Its digest is right."
  Expand-Archive $file (Join-Path $work "unpacked")
  $new = (Get-ChildItem (Join-Path $work "unpacked") | Select-Object -First 1).FullName
  & (Join-Path $new "bin\$Product.cmd") --version | Out-Null
  if ($LASTEXITCODE -ne 0) { throw "$Product does not run on this machine" }
  New-Item -ItemType Directory -Force (Split-Path $folder) | Out-Null
  Move-Item $new $folder
  if ((Get-UserPath) -notcontains $bin) { [Environment]::SetEnvironmentVariable("Path", ((@(Get-UserPath) + $bin) -join ";"), "User") }
  Write-Output "Installed $Product in $folder. Open a new window, then start it: $Product serve"
} finally {
  Remove-Item -Recurse -Force $work
}
