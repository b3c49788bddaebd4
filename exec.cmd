@rem npm scripts say "exec", so that on Unix no shell stands between npm and node and swallows signals. On Windows, this.
@%*
