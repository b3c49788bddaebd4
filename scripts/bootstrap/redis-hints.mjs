export const REDIS_HINTS = `Cronce needs a Redis (7 is best, 6.2 the least) and found none. Any one of these will do:

  macOS                  brew install redis
  Debian, Ubuntu         sudo apt-get install redis-server
  Fedora                 sudo dnf install redis        (or valkey)
  Alpine                 sudo apk add redis            (or valkey)
  Windows                use WSL and the line for its distribution, or Docker Desktop
  anywhere               start Docker, or set REDIS_URL=redis://host:port

Then run the same command again.`
