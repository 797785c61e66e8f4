# Sourced by scripts: with --help among the arguments, prints the comment at the head of the script and ends it.
for arg in "$@"; do
  case $arg in
    -h | --help)
      sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
  esac
done
