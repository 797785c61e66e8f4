# Sourced by scripts. `set_up` calls hack/setup with its arguments, and ends the script when that fails. A signal to the script
# stops the installation too, which says so.
set_up() {
  local setup status=0
  # A shell handles signals while it waits for a command in the background, but not while one in the foreground runs.
  "$root/hack/setup" "$@" <&0 &
  setup=$!
  trap 'kill -TERM "$setup" 2>/dev/null || true' HUP INT TERM
  wait "$setup" || status=$?
  # A signal ends the first wait; this one lasts until the installation has stopped.
  wait "$setup" || status=$?
  trap - HUP INT TERM
  [ "$status" = 0 ] || exit "$status"
}
